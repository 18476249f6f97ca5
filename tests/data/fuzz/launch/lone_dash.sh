 python run_script.py - --model_recipe_name deepseek_v3
